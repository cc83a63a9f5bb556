-- compatible
-- The subscriptions of a workspace in a list, all of them or by `active`. Making an index locks its table against writes: for about a second
-- where there are a million rows.
create index subscription_by_workspace on subscription (workspace_id, created_at, id);
create index subscription_by_activity on subscription (workspace_id, active, created_at, id);
