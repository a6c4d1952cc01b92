import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { BrowserPushSubscription, Client, PushSubscription as Subscription } from 'quarterdeck/client'
import { useState } from 'react'
import { registerServiceWorker } from '../../../app/service-worker.ts'
import { playSound, setSoundOn, useIsSoundOn } from '../../../app/sound.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { ErrorNotice } from '../../../parts/approval/Problem.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Confirm } from '../../../parts/Confirm.tsx'
import { AlertIcon } from '../../../parts/icons.ts'
import { useAction } from '../../../parts/use-action.ts'
import { bytesOf } from '../../../sign-in/credential-json.ts'
import { deviceName } from '../../../sign-in/device-name.ts'
import { Switch } from '../Choice.tsx'
import { Facts, Row, RowAction, Rows, When } from '../Rows.tsx'
import { Section } from '../Section.tsx'

export function PushPart() {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const subscriptions = useQuery({ queryKey: ['push'], queryFn: ({ signal }) => client.push.list({ signal }) })
  const own = useQuery({ queryKey: ['push', 'own'], queryFn: ownSubscriptionId }).data ?? null
  const [removed, setRemoved] = useState<Subscription | null>(null)
  const { isBusy, error, run } = useAction()
  const [whyNot, setWhyNot] = useState(() => whyNoPush(pushPlace()))
  const isHere = subscriptions.data?.some(({ subscription_id }) => subscription_id === own) === true

  async function subscribe(): Promise<void> {
    const isDone = await run(async () => {
      await subscribeHere(client)
      await queries.invalidateQueries({ queryKey: ['push'] })
    })
    setWhyNot(whyNoPush(pushPlace()))
    if (isDone) announce('This browser shows what waits, from now on')
  }
  return (
    <Section
      title="Notifications"
      about="Your browser can tell you that something waits, even while the console is closed. A message names the agent, the tool and the risk: never what is in the call. A press on it opens the question; it decides nothing."
      whyNot={whyNot}
      action={
        <Button
          kind="primary"
          icon={<AlertIcon />}
          isBusy={isBusy}
          disabled={!isLive || whyNot !== null || isHere || subscriptions.data === undefined}
          onClick={() => void subscribe()}
        >
          {isHere ? 'On in this browser' : 'Notify this browser'}
        </Button>
      }
    >
      <ErrorNotice error={error} />
      <Rows
        query={subscriptions}
        keyOf={({ subscription_id }) => subscription_id}
        label="Browsers with notifications"
        none="None of your browsers gets messages yet."
      >
        {(one) => (
          <SubscriptionRow subscription={one} isOwn={one.subscription_id === own} onRemove={() => setRemoved(one)} />
        )}
      </Rows>
      <Sound />
      {removed !== null && (
        <Confirm
          title="Send no more messages there?"
          verb="Remove"
          done="No more messages go there"
          stale={['push']}
          act={async () => {
            if (removed.subscription_id === own) await unsubscribeHere()
            await client.push.unsubscribe(removed.subscription_id)
          }}
          onClose={() => setRemoved(null)}
        >
          <p>
            <bdi>{nameOf(removed)}</bdi> shows nothing any more until you switch it on there again.
          </p>
        </Confirm>
      )}
    </Section>
  )
}

interface SubscriptionRowProps {
  subscription: Subscription
  isOwn: boolean
  onRemove: () => void
}

function SubscriptionRow({ subscription, isOwn, onRemove }: SubscriptionRowProps) {
  return (
    <Row
      icon={<AlertIcon aria-hidden="true" />}
      title={nameOf(subscription)}
      badges={isOwn && <Badge tone="accent">This browser</Badge>}
      action={
        <RowAction label={`Remove ${nameOf(subscription)}`} onClick={onRemove}>
          Remove
        </RowAction>
      }
    >
      <Facts>
        <span>{subscription.service}</span> <When at={subscription.created_at}>Since</When>
      </Facts>
    </Row>
  )
}

function Sound() {
  const isOn = useIsSoundOn()
  function change(on: boolean): void {
    setSoundOn(on)
    // So that one knows what to listen for.
    if (on) void playSound()
  }
  return (
    <Switch
      name="Sound"
      about="A short sound while the console is open, when something new waits. It needs no network."
      isOn={isOn}
      onChange={change}
    />
  )
}

const nameOf = ({ label }: Subscription): string => label ?? 'A browser without a name'

/** What decides whether this browser can show push messages. */
interface PushPlace {
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

const pushPlace = (): PushPlace => ({
  isSecure: window.isSecureContext,
  hasWorker: 'serviceWorker' in navigator,
  hasPush: 'PushManager' in window && 'Notification' in window,
  // An iPad says that it is a Mac, but no Mac can be touched.
  isApplePhone:
    /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1),
  isInstalled: matchMedia('(display-mode: standalone)').matches,
  permission: 'Notification' in window ? Notification.permission : null,
})

/** Asks the person, then the service of the browser's vendor, then tells the server. Call it only on a press. */
async function subscribeHere(client: Client): Promise<void> {
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
async function ownSubscriptionId(): Promise<string | null> {
  const registration = await navigator.serviceWorker?.getRegistration()
  const subscription = await registration?.pushManager?.getSubscription()
  if (subscription === null || subscription === undefined) return null
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(subscription.endpoint))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, 32)
}

/** Takes no more messages, whatever the server thinks. */
async function unsubscribeHere(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  await (await registration?.pushManager?.getSubscription())?.unsubscribe()
}
