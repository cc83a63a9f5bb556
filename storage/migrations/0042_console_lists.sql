-- compatible
-- What the console lists: the subscriptions of a workspace, all of them or by `active`, and how many connections use a proxy. Making an
-- index locks its table against writes: for about a second where there are a million rows.
create index subscription_by_workspace on subscription (workspace_id, created_at, id);
create index subscription_by_activity on subscription (workspace_id, active, created_at, id);
create index connection_by_proxy on connection (proxy_id) where proxy_id is not null and deleted_at is null;
