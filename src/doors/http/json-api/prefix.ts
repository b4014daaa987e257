/** Where the tags API begins. */
export const JSON_API_PREFIX = '/api/v2/';
