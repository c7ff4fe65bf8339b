-- What was booked stays booked: the database itself refuses to change or delete it.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''% is append-only'', TG_TABLE_NAME; END';

CREATE TRIGGER ledger_transactions_append_only BEFORE UPDATE OR DELETE ON ledger_transactions
FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_transactions_no_truncate BEFORE TRUNCATE ON ledger_transactions
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE ON ledger_entries
FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_entries_no_truncate BEFORE TRUNCATE ON ledger_entries
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER charges_append_only BEFORE UPDATE OR DELETE ON charges
FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER charges_no_truncate BEFORE TRUNCATE ON charges
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
