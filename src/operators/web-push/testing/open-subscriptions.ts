import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { testOperator } from '../../../domain/testing/test-operator.ts'
import { openLog } from '../../../log/testing/open-log.ts'
import { createOwnChanges } from '../../../replicas/replica.ts'
import type { Changes } from '../../outbox.ts'
import { openPushSubscriptions } from '../subscriptions.ts'
import { createVapidKeys, type VapidKeys } from '../vapid.ts'

export const asAda = { user: 'ada', role: 'operator' } as const

/** The subscriptions of ada, who is local, and of ben, on a real store. `reopen` reads them again, as a restart does. */
export async function openSubscriptions({ isLocalServer = true, others = ['ben'] } = {}) {
  const { store, log } = openLog({ clock: createSystemClock() })
  const subscribed: string[] = []
  let keys: VapidKeys | null = null
  const ada = testOperator({ name: 'ada', console: 'ada@work', local: true })
  const operators = [ada, ...others.map((name) => testOperator({ name }))]
  const reopen = async (changes: Changes = createOwnChanges()) => {
    const opened = await openPushSubscriptions({
      store: store.outbox,
      log,
      clock: createSystemClock(),
      operators,
      async keys() {
        keys ??= createVapidKeys()
        return keys
      },
      isLocalServer,
      logger: silentLogger,
      changes,
    })
    opened.watch((channel) => void subscribed.push(channel))
    return opened
  }
  return {
    subscriptions: await reopen(),
    reopen,
    store,
    subscribed,
    vapidKeys: () => keys,
    /** The file with the keys is lost. */
    loseKeys() {
      keys = null
    },
  }
}
