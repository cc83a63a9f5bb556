-- compatible
-- Erasing by age. One row for the whole installation: the class of rows that is gone through, the place behind the last slice, when the
-- next slice is due, and when each class was last through. Whoever has its lock runs one.
create table retention_turn (
  id boolean primary key default true check (id),
  class text,
  after text,
  due_at timestamptz not null default now(),
  through jsonb not null default '{}'
);
insert into retention_turn default values;

-- How many deliveries of a subscription are gone by age: its own count gives ranks and never falls. The reference to `subscription` locks it
-- against writes for as long as the new table is made, which is empty.
create table erased_deliveries (
  subscription_id uuid primary key references subscription on delete cascade,
  deliveries bigint not null
);

-- The keys of what is gone, by their age. The index locks its table against writes while it is made: only removals of connections write there.
create index idempotency_tombstone_by_creation on idempotency_tombstone (created_at);
