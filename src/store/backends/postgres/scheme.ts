const LOCATION = /^postgres(?:ql)?:\/\//i;

/** Whether a store's location means PostgreSQL rather than a directory. */
export const isPostgres = (location: string): boolean => LOCATION.test(location);
