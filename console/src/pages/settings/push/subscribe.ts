import type { BrowserPushSubscription, Client } from 'quarterdeck/client'
import { registerServiceWorker } from '../../../app/service-worker.ts'
import { bytesOf } from '../../../sign-in/credential-json.ts'
import { deviceName } from '../../../sign-in/device-name.ts'

/** Asks the person, then the service of the browser's vendor, then tells the server. Call it only on a press. */
export async function subscribeHere(client: Client): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error('You did not allow notifications, so nothing has changed.')
  }
  const registration = await registerServiceWorker()
  if (registration === null) throw new Error('The service worker of the console does not run here.')
  const applicationServerKey = bytesOf(await client.push.key())
  const subscription = await subscribeWith(registration.pushManager, applicationServerKey)
  await client.push.subscribe(subscription.toJSON() as BrowserPushSubscription, { label: deviceName().slice(0, 64) })
}

async function subscribeWith(manager: PushManager, key: BufferSource): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: key }
  try {
    return await manager.subscribe(options)
  } catch (error) {
    // The server has a new key, and the browser still holds a subscription to the old one.
    const old =
      error instanceof DOMException && error.name === 'InvalidStateError' ? await manager.getSubscription() : null
    if (old !== null) {
      await old.unsubscribe()
      return manager.subscribe(options)
    }
    throw new Error('The push service of this browser did not answer. Check the network, and try again.', {
      cause: error,
    })
  }
}

/** The id that the server gives to the subscription of this browser: a digest of its address. Null: it has none. */
export async function ownSubscriptionId(): Promise<string | null> {
  const registration = await navigator.serviceWorker?.getRegistration()
  const subscription = await registration?.pushManager?.getSubscription()
  if (subscription === null || subscription === undefined) return null
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(subscription.endpoint))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, 32)
}

/** Takes no more messages, whatever the server thinks. */
export async function unsubscribeHere(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  await (await registration?.pushManager?.getSubscription())?.unsubscribe()
}
