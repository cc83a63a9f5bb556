-- compatible
-- What the lists of operators go on. An index locks its table against writes while it is made; these tables are small.
create index workspace_by_creation on workspace (created_at, id);
-- In place of one without the id. Dropping it locks the table for a moment.
create index api_key_by_creation on api_key (workspace_id, created_at, id);
drop index api_key_by_workspace;
