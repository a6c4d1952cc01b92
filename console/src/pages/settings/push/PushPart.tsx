import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { PushSubscription } from 'quarterdeck/client'
import { useState } from 'react'
import { playSound, setSoundOn, useIsSoundOn } from '../../../app/sound.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Notice } from '../../../parts/approval/Notice.tsx'
import { Badge } from '../../../parts/Badge.tsx'
import { Button } from '../../../parts/Button.tsx'
import { AlertIcon } from '../../../parts/icons.ts'
import { Time } from '../../../parts/Time.tsx'
import { ActionError } from '../ActionError.tsx'
import { Switch } from '../Choice.tsx'
import { Confirm } from '../Confirm.tsx'
import { Facts, Row, Rows } from '../Rows.tsx'
import { Loaded, None, Section } from '../Section.tsx'
import { useAction } from '../use-action.ts'
import { pushPlace, whyNoPush } from './push-possible.ts'
import { ownSubscriptionId, subscribeHere, unsubscribeHere } from './subscribe.ts'

export function PushPart() {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const subscriptions = useQuery({ queryKey: ['push'], queryFn: ({ signal }) => client.push.list({ signal }) })
  const own = useQuery({ queryKey: ['push', 'own'], queryFn: ownSubscriptionId }).data ?? null
  const [removed, setRemoved] = useState<PushSubscription | null>(null)
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
      {whyNot !== null && (
        <Notice tone="warn">
          <p>{whyNot}</p>
        </Notice>
      )}
      <ActionError error={error} />
      <Loaded query={subscriptions}>
        {(list) =>
          list.length === 0 ? (
            <None>None of your browsers gets messages yet.</None>
          ) : (
            <Rows items={list} keyOf={({ subscription_id }) => subscription_id} label="Browsers with notifications">
              {(one) => (
                <SubscriptionRow
                  subscription={one}
                  isOwn={one.subscription_id === own}
                  isLive={isLive}
                  onRemove={() => setRemoved(one)}
                />
              )}
            </Rows>
          )
        }
      </Loaded>
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
  subscription: PushSubscription
  isOwn: boolean
  isLive: boolean
  onRemove: () => void
}

function SubscriptionRow({ subscription, isOwn, isLive, onRemove }: SubscriptionRowProps) {
  return (
    <Row
      icon={<AlertIcon aria-hidden="true" />}
      title={nameOf(subscription)}
      badges={isOwn && <Badge tone="accent">This browser</Badge>}
      action={
        <Button aria-label={`Remove ${nameOf(subscription)}`} disabled={!isLive} onClick={onRemove}>
          Remove
        </Button>
      }
    >
      <Facts>
        <span>{subscription.service}</span>{' '}
        <span>
          Since <Time at={subscription.created_at} />
        </span>
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

const nameOf = ({ label }: PushSubscription): string => label ?? 'A browser without a name'
