import { contactAddress } from '../../config/settings/channel-values.ts'
import { setting } from '../../config/settings/setting.ts'
import { channelKind } from '../channel-kind.ts'

export interface WebPushSettings {
  /** Whom a push service asks when something is wrong: a `mailto:` or `https:` address. Null: `publicUrl`, or an address of nobody. */
  contact: string | null
}

export const webPushChannel = channelKind({
  name: 'push',
  words: {
    title: 'Web Push',
    short: 'Push',
    docs: '#web-push',
    help: 'a notification of your browser',
    answers: 'no, it opens the console',
    setUp: '`POST /push/subscriptions`',
  },
  settings: {
    'web_push.contact': setting<string | null>({
      schema: contactAddress(),
      description: 'Whom the push services of browsers can ask when something is wrong.',
      expected: 'a mailto: or https: address',
      example: 'mailto:ops@example.com',
      default: null,
      defaultText: '`public_url`',
      flag: null,
      env: [],
    }),
  },
  read: ({ 'web_push.contact': contact }): WebPushSettings => ({ contact }),
  // Browsers subscribe by themselves.
  contact: null,
  credentials: {},
  isUsed: () => true,
  check: async (parts) => (await import('./check-push-keys.ts')).checkPushKeys(parts),
  open: async (parts) => (await import('./create-web-push.ts')).openWebPush(parts),
})
