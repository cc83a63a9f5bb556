-- Above the ids of all events of the connection that were recorded since this migration; the next one's is above it: one order of events, by
-- rank, by id and by time.
alter table event_list add column id_floor uuid not null default '00000000-0000-0000-0000-000000000000';
