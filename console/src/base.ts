// Where the console and its server are. The server may stand behind a base path, so both come from the address of this script, which is
// in `assets/` of the built console and in `src/` while it is developed.

const consoleUrl = new URL(/* @vite-ignore */ '..', import.meta.url)

/** Path of the console without a slash at its end, such as `/console`. */
export const consolePath = consoleUrl.pathname.replace(/\/$/, '')

/** Address of the server without a slash at its end. */
export const serverUrl = new URL('..', consoleUrl).href.replace(/\/$/, '')
