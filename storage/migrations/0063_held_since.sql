-- compatible
-- Since when a subscription is on hold, for those who have forgotten that it is. A trigger keeps it, so that a node of the version before does too.
alter table subscription add column held_at timestamptz;

create function note_hold() returns trigger language plpgsql as $$
begin
  new.held_at := case when new.on_hold then now() end;
  return new;
end $$;
create trigger note_hold before update of on_hold on subscription for each row when (new.on_hold is distinct from old.on_hold)
  execute function note_hold();

update subscription set held_at = now() where on_hold;
create index subscription_held on subscription (workspace_id, held_at) where held_at is not null and active and deleted_at is null;
