-- compatible
-- The secrets that signed before a rotation, each with the time until which it goes on signing. Filled by a trigger, because nodes of
-- the version before rotate as well: they know the columns `previous_…` of the subscription only, one former secret, and every
-- rotation still writes those. The trigger comes before the copy; it waits for writers and lets none in until the commit, for as long
-- as the copy scans the table, a second for a million subscriptions.
create table former_secret (
  id uuid primary key default gen_random_uuid(),
  subscription_id uuid not null references subscription (id) on delete cascade,
  secret_sealed bytea not null,
  valid_until timestamptz not null
);
create index former_secret_by_subscription on former_secret (subscription_id, valid_until);
create function keep_former_secret() returns trigger language plpgsql as $$
begin
  insert into former_secret (subscription_id, secret_sealed, valid_until)
  values (new.id, new.previous_secret_sealed, new.previous_valid_until);
  return null;
end $$;
-- A rotation moves the secret; a change of the encryption key seals it anew where it is.
create trigger subscription_rotated after update of previous_secret_sealed on subscription
  for each row when (new.previous_secret_sealed = old.secret_sealed) execute function keep_former_secret();
insert into former_secret (subscription_id, secret_sealed, valid_until)
  select id, previous_secret_sealed, previous_valid_until from subscription
  where previous_secret_sealed is not null and previous_valid_until > now();

-- Subscriptions without a hash of where they lead: those from before there was one, and those of a node of that version. A start gives
-- them one; the index is empty from then on. It locks the table against writes for as long as it takes to scan it.
create index subscription_without_destination on subscription (id) where destination is null;
