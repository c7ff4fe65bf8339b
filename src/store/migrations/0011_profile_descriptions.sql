-- What a profile is for, in the words of whoever made it.

ALTER TABLE profiles ADD COLUMN description TEXT;
