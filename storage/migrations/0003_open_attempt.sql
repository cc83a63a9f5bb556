-- compatible
-- An attempt that is under way stands in the row of its delivery, and gets a row of its own when it ends: one write less a callback. The columns
-- are added without a rewrite. Rows of attempts are not updated any more, and need no room for that; the setting waits for no reader or writer.
alter table delivery add column attempt_id uuid, add column attempt_started_at timestamptz;
alter table delivery_attempt reset (fillfactor);
