/** Whether all is to be tried that takes long: `SLOW=1`. What is left out of other runs is more of the same. */
export const isSlow = process.env['SLOW'] === '1';
