-- compatible
-- How often a reader looked at an object within an hour, which leaves one entry in the audit log, its first (HTTP-30). Nodes of the version before
-- add an entry each time. No row is read or written.
create table audit_reveal (
  -- Who, and from where: of the entry the kind, the id and the address.
  reader text not null,
  action text not null,
  target_id uuid not null,
  hour timestamptz not null,
  entry_id uuid not null,
  reads bigint not null,
  primary key (reader, target_id, action, hour)
);
create index audit_reveal_by_entry on audit_reveal (entry_id);
