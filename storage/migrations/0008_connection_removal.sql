-- compatible
-- A deleted connection is hidden at once and its rows go afterwards, slice by slice. Both columns are null but for connections in
-- the middle of that or of a long disconnect. The table is locked for as long as it takes to scan it once for the two indexes,
-- which stay empty: about a third of a second for a million connections.
alter table connection
  add column deleted_at timestamptz,
  -- No operation up to this id may start any more: it is canceled, or about to be.
  add column cancel_through uuid;
create index connection_deleted on connection (id) where deleted_at is not null;
create index connection_canceling on connection (id) where cancel_through is not null;
