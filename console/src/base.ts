// Where the page and its server are. The server may stand behind a base path, so both come from the address of this script, which is
// in `assets/` of the built page and in `src/` while it is developed.

const consoleUrl = new URL(/* @vite-ignore */ '..', import.meta.url)

/** Path of the page without a slash at its end: `/console`, or `/talk` on the page for users. */
export const consolePath = consoleUrl.pathname.replace(/\/$/, '')

/** The page for users may stand in a page of somebody else. It keeps nothing then, and says nothing to other tabs. */
export const isFramed = typeof window !== 'undefined' && window.parent !== window

/** Address of the server without a slash at its end. */
export const serverUrl = new URL('..', consoleUrl).href.replace(/\/$/, '')

/** Icons and manifest are named relative to the address that was opened first. Other pages have the same. */
export function keepIcon(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link:not([crossorigin])'))
    link.setAttribute('href', link.href)
}
