-- Gapless ranks, so that the offset of a list is arithmetic: the newest row has the rank `count`, the oldest 1.

-- A table of its own, not a column of connection: its row is locked from a batch of events until the commit, in the order of
-- connections, and a connection's row is locked in other orders by the transactions that record events.
create table event_list (
  connection_id uuid primary key references connection on delete cascade,
  event_count bigint not null
) with (fillfactor = 50);

-- Beside the event, not in it: only after the insert is it known which events were new (decision E8).
create table event_position (
  connection_id uuid not null references connection on delete cascade,
  rank bigint not null,
  event_id uuid not null,
  primary key (connection_id, rank)
);

insert into event_position (connection_id, rank, event_id)
select connection_id, row_number() over (partition by connection_id order by id), id from event;
insert into event_list (connection_id, event_count)
select connection_id, count(*) from event group by connection_id;

alter table subscription add column delivery_count bigint not null default 0;
update subscription s set delivery_count = (select count(*) from delivery d where d.subscription_id = s.id);

alter table delivery add column rank bigint;
update delivery d set rank = r.rank
from (select id, row_number() over (partition by subscription_id order by event_id) as rank from delivery) r
where r.id = d.id;
alter table delivery alter column rank set not null;
create unique index delivery_by_rank on delivery (subscription_id, rank);
