/** What decides whether this browser can show push messages. */
export interface PushPlace {
  isSecure: boolean
  hasWorker: boolean
  hasPush: boolean
  /** An iPhone or iPad, where only an installed console gets messages. */
  isApplePhone: boolean
  isInstalled: boolean
  permission: NotificationPermission | null
}

/** Why not, and what to do about it. Null: it is possible. */
export function whyNoPush(place: PushPlace): string | null {
  if (!place.isSecure) {
    return 'Browsers show push messages only for pages over TLS, and on the server’s own machine. Start the server with --tls-cert and --tls-key, or put a proxy with TLS in front of it.'
  }
  if (place.isApplePhone && !place.isInstalled) {
    return 'On an iPhone or iPad, install the console first: Share, then “Add to Home Screen”. Then open it from there and come back to this page.'
  }
  if (!place.hasWorker || !place.hasPush) {
    return 'This browser has no push messages. The number of things that wait is in the title of the tab, and a sound can be switched on below.'
  }
  if (place.permission === 'denied') {
    return 'Notifications of this page are blocked. Allow them in the settings that your browser has for this address, then load the page again.'
  }
  return null
}

export const pushPlace = (): PushPlace => ({
  isSecure: window.isSecureContext,
  hasWorker: 'serviceWorker' in navigator,
  hasPush: 'PushManager' in window && 'Notification' in window,
  // An iPad says that it is a Mac, but no Mac can be touched.
  isApplePhone:
    /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1),
  isInstalled: matchMedia('(display-mode: standalone)').matches,
  permission: 'Notification' in window ? Notification.permission : null,
})
