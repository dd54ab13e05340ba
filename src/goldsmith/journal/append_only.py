"""The audit log is append-only: triggers in the database refuse changes by any user.

Only retention (`retention.py`) deletes events: a row in `retention_pass`, in the same
transaction, allows deleting events up to a time. Nothing ever changes an event.
"""

from __future__ import annotations

from collections.abc import Mapping

_SAYS = "audit_log is append-only"
_FORGET = "events are forgotten by retention alone"

_SQLITE = (
    "CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log"
    f" BEGIN SELECT RAISE(ABORT, '{_SAYS}: an event is never changed'); END",
    "CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log"
    " WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE OLD.at < older_than)"
    f" BEGIN SELECT RAISE(ABORT, '{_SAYS}: {_FORGET}'); END",
    # INSERT OR REPLACE removes the old row without firing a delete trigger.
    "CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log"
    " WHEN EXISTS (SELECT 1 FROM audit_log WHERE event_id = NEW.event_id)"
    f" BEGIN SELECT RAISE(ABORT, '{_SAYS}: an event is never changed'); END",
)

_POSTGRESQL = (
    f"""CREATE FUNCTION goldsmith_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM retention_pass
               WHERE transaction_id = txid_current() AND OLD.at < older_than) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION USING MESSAGE = '{_SAYS}: {_FORGET}', ERRCODE = 'restrict_violation';
  ELSIF TG_OP = 'TRUNCATE' THEN
    RAISE EXCEPTION USING MESSAGE = '{_SAYS}: {_FORGET}', ERRCODE = 'restrict_violation';
  END IF;
  RAISE EXCEPTION USING MESSAGE = '{_SAYS}: an event is never changed',
    ERRCODE = 'restrict_violation';
END $$""",
    "CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log"
    " FOR EACH ROW EXECUTE FUNCTION goldsmith_append_only()",
    "CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log"
    " FOR EACH STATEMENT EXECUTE FUNCTION goldsmith_append_only()",
)

#: The statements that create the triggers, for each database.
STATEMENTS: Mapping[str, tuple[str, ...]] = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
