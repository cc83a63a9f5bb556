-- compatible
-- Where the callbacks of a subscription lead, as a keyed hash of its workspace and of the host and port of its URL; null in rows
-- from before, and in those of a node of the version before. `verified`: its receiver has answered the challenge. The columns cost
-- no scan; the index locks the table against writes for as long as it takes to scan it, a second for a million subscriptions.
alter table subscription
  add column destination bytea,
  add column verified boolean not null default false;
create index subscription_by_destination on subscription (connection_id, destination);

-- Destinations that do not answer: their deliveries wait, and one is tried now and then. Written by the threads that try, gone with
-- the first answer.
create table callback_pause (
  destination bytea primary key,
  -- The class of the error of the last try.
  reason text not null,
  since timestamptz not null default now(),
  tried_at timestamptz not null default now()
);
create index callback_pause_by_try on callback_pause (tried_at);

-- How many subscriptions each workspace has, so that the bound of a workspace needs no count of them. Kept by triggers: nodes of the
-- version before insert and delete as well. The triggers come first; they wait for writers and let none in until the commit, so
-- that the count misses none.
create table subscription_count (
  workspace_id uuid primary key,
  subscriptions bigint not null check (subscriptions >= 0)
);
create function count_new_subscriptions() returns trigger language plpgsql as $$
begin
  insert into subscription_count as c (workspace_id, subscriptions)
  select workspace_id, count(*) from changed group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set subscriptions = c.subscriptions + excluded.subscriptions;
  return null;
end $$;
create function count_gone_subscriptions() returns trigger language plpgsql as $$
begin
  update subscription_count c set subscriptions = c.subscriptions - d.subscriptions
  from (select workspace_id, count(*) as subscriptions from changed group by workspace_id) d
  where c.workspace_id = d.workspace_id;
  return null;
end $$;
create trigger subscription_added after insert on subscription
  referencing new table as changed for each statement execute function count_new_subscriptions();
create trigger subscription_gone after delete on subscription
  referencing old table as changed for each statement execute function count_gone_subscriptions();
insert into subscription_count (workspace_id, subscriptions)
  select workspace_id, count(*) from subscription group by workspace_id;
