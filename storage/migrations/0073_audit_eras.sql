-- compatible
-- A dump that is loaded into another server keeps the transactions of the audit log, and that server counts its own from anew: a follower in their
-- order would pass over what is added. A row ends what one server wrote: entries up to then come first, those behind it are counted anew
-- (HTTP-30). Nodes of the version before follow as before. No row is read or written.
create table audit_era (
  until timestamptz primary key,
  noted_at timestamptz not null default now()
);
