/** Where a method keeps which names are locked out; a collection of its mount. */
export const LOCKED = 'locked';
