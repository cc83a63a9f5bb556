-- compatible
-- What providers and clients wrote, sealed: results, event data, files; inputs have their sealed column already. The plain columns
-- stay for what was stored before, until `encryption rotate` empties them, and for installations without a key. Nothing is sealed
-- while a node is alive that does not say of itself that it reads sealed values.
alter table node add column reads_sealed boolean not null default false;

-- The constraints are not checked for the rows there are (they hold): that would read a large table under its lock.
alter table operation
  add column result_sealed bytea,
  drop constraint operation_check4,
  add constraint operation_has_result
    check (status <> 'succeeded' or num_nonnulls(result, result_sealed) = 1) not valid;

alter table operation_file add column sealed boolean not null default false;

-- `conversation_hash` finds the messages of a conversation, `delivered_ms` orders them (milliseconds since 1970); both are for
-- simulated connections, whose conversations are their events.
alter table event
  add column data_sealed bytea,
  add column conversation_hash bytea,
  add column delivered_ms bigint,
  alter column data drop not null,
  add constraint event_has_data check (num_nonnulls(data, data_sealed) = 1) not valid;
