/** The two kinds of question that are asked. Only these get into the bundle: the package as a whole is half of it. */
export { confirm, password } from '@inquirer/prompts';
