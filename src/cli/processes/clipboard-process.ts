/** Name of the hidden command that clears the clipboard in the background. */
export const CLIPBOARD_PROCESS = 'clipboard-process';
