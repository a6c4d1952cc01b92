import { z } from 'zod'
import { httpUrl } from '../../config/settings/channel-values.ts'
import { fileSetting } from '../../config/settings/setting.ts'
import { key } from '../../config/source/schema-key.ts'
import { abortAfter } from '../../domain/abort.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type ChannelCheck, type CheckParts, channelKind } from '../channel-kind.ts'

export interface NtfySettings {
  /** Address of the ntfy server, without a slash at the end. */
  url: string
}

const CHECK_MS = 10_000

export const ntfyChannel = channelKind({
  name: 'ntfy',
  words: {
    title: 'ntfy',
    short: 'ntfy',
    docs: 'get-told-on-your-phone.md#ntfy',
    help: 'a notification on your phone',
    answers: 'no, it opens the console',
  },
  settings: {
    'ntfy.url': fileSetting<string>({
      schema: httpUrl(),
      description: 'The ntfy server that brings messages to the `ntfy` topics of operators.',
      expected: 'an http or https address',
      example: 'https://ntfy.example.com',
      default: 'https://ntfy.sh',
    }),
  },
  read: ({ 'ntfy.url': url }): NtfySettings => ({ url }),
  contact: key(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    'Topic of ntfy that reaches this person. Whoever knows its name can read it, so make it long.',
    'ada-7f3kq9',
    'up to 64 letters, digits, - and _',
  ),
  credentials: {
    ntfy_token: {
      isRequired: false,
      needed: 'if the ntfy server asks for one',
      isRight: (value) => /^tk_[A-Za-z0-9]+$/.test(value),
      expected: 'an access token that begins with tk_',
    },
  },
  isUsed: ({ supervision }) => supervision.operators.some(({ contacts }) => contacts.ntfy !== undefined),
  check: checkServer,
  open: async (parts) => (await import('./create-ntfy.ts')).openNtfyChannels(parts),
})

/** The topics are not touched: whoever reads them would see it. */
async function checkServer({ settings: { url }, outgoing, clock }: CheckParts<NtfySettings>): Promise<ChannelCheck[]> {
  const mend = 'Start the ntfy server, or fix ntfy.url. Behind a proxy, check HTTPS_PROXY and tools.proxy.'
  using timeout = abortAfter(clock, CHECK_MS)
  try {
    const response = await outgoing.fetch(`${url}/v1/health`, { signal: timeout.signal })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok && isRecord(answer) && answer.healthy === true) return [{ status: 'ok', detail: `${url} works` }]
    const detail = `${url} answers ${response.status}, but not as a healthy ntfy server does`
    return [{ status: 'fail', detail, mend }]
  } catch {
    const why = timeout.signal.aborted ? `does not answer within ${CHECK_MS / 1_000} s` : 'cannot be reached'
    return [{ status: 'fail', detail: `${url} ${why}`, mend }]
  }
}
