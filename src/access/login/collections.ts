/** Collection of a mount in which a method stores locked names. */
export const LOCKED = 'locked';
