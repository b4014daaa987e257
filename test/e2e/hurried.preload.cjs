// Time passes thirty times as fast for a process, so that what takes a tenth of a second is a long job.
const uptime = process.uptime.bind(process);
process.uptime = () => 30 * uptime();
