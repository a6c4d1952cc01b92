import { contactAddress } from '../../config/settings/channel-values.ts'
import { fileSetting } from '../../config/settings/setting.ts'
import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { type ChannelCheck, type CheckParts, channelKind } from '../channel-kind.ts'

export interface WebPushSettings {
  /** Whom a push service asks when something is wrong: a `mailto:` or `https:` address. Null: `publicUrl`, or an address of nobody. */
  contact: string | null
}

export const webPushChannel = channelKind({
  name: 'push',
  words: {
    title: 'Web Push',
    short: 'Push',
    docs: 'get-told-on-your-phone.md#web-push',
    help: 'a notification of your browser',
    answers: 'no, it opens the console',
  },
  settings: {
    'web_push.contact': fileSetting<string | null>({
      schema: contactAddress(),
      description: 'Whom the push services of browsers can ask when something is wrong.',
      expected: 'a mailto: or https: address',
      example: 'mailto:ops@example.com',
      default: null,
      defaultText: '`public_url`',
    }),
  },
  read: ({ 'web_push.contact': contact }): WebPushSettings => ({ contact }),
  // Browsers subscribe by themselves.
  contact: null,
  credentials: {},
  isUsed: () => true,
  check: checkKeys,
  open: async (parts) => (await import('./create-web-push.ts')).openWebPushChannels(parts),
})

/** They are made when the first browser subscribes. */
async function checkKeys({ kept }: Pick<CheckParts, 'kept'>): Promise<ChannelCheck[]> {
  const why = 'Otherwise the server makes new ones, and browsers must subscribe again.'
  try {
    const file = kept('push')
    const text = file?.read() ?? null
    if (file === null || text === null) return []
    // The error of the parser would show a part of the text.
    const keys = jsonIn(text)
    if (isRecord(keys) && typeof keys.publicKey === 'string' && typeof keys.privateKey === 'string') {
      return [{ status: 'ok', detail: 'the keys for Web Push are there' }]
    }
    return [{ status: 'warn', detail: `${file.path} holds no keys for Web Push`, mend: `Restore the file. ${why}` }]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [{ status: 'warn', detail: `The keys for Web Push cannot be used: ${reason}`, mend: `Mend that. ${why}` }]
  }
}
