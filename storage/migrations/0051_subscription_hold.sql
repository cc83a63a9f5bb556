-- compatible
-- A subscription on hold keeps what is due and sends none of it (EVT-21). A constant default rewrites no row; the lock on the table is short.
-- A node of the version before knows no hold and sends on until it is replaced.
alter table subscription add column on_hold boolean not null default false;
