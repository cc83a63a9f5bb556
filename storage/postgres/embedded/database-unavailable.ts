/** Why there is no database, in one line that states the remedy. */
export class DatabaseUnavailable extends Error {}
