/** Path prefix of the tags API. */
export const JSON_API_PREFIX = '/api/v2/';
