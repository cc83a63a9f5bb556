-- compatible
-- What one workspace may have in place of what the installation's settings say. A node of the version before goes by its settings.
create table workspace_limit (
  workspace_id uuid not null references workspace on delete cascade,
  name text not null,
  value bigint not null check (value > 0),
  primary key (workspace_id, name)
);

-- What counts against the limit of connections is counted from this index alone, and lists go on in its order: one without the order would
-- be taken for them, and each page be sorted. It locks its table against writes while it is made, which is small.
create index connection_live on connection (workspace_id, created_at, id) where deleted_at is null;
