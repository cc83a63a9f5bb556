-- compatible
-- Operations that have not ended stand in mailboxes, one job a connection, instead of one job an operation. A node of the version before
-- knows none: while one is alive, the others make jobs an operation as well. `running_operation` is used by that version alone.
alter table node add column mailboxes boolean not null default false;
