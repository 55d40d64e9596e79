-- The sequences of the notices that the session dismissed last, in 8 bytes each.
ALTER TABLE dashboard_session ADD COLUMN dismissed VARBINARY(800) NULL;
