-- A description of the profile, for people.

ALTER TABLE profiles ADD COLUMN description TEXT;
