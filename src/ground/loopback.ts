/** Whether a host is only reachable from this machine. Names except `localhost` could be anything. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
