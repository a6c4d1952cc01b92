import { z } from 'zod'
import { KINDS_TEXT, kindList } from '../../config/settings/channel-values.ts'
import { fileSetting } from '../../config/settings/setting.ts'
import { key, reporter } from '../../config/source/schema-key.ts'
import { notifyKinds } from '../../domain/settings/channel-settings.ts'
import { type ChannelCheck, type CheckParts, channelKind } from '../channel-kind.ts'

const webhook = () =>
  z.strictObject({
    name: key(
      z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/),
      'Names it in lists and in the log.',
      'pager',
      'up to 32 lower-case letters, digits, - and _',
    ),
    url: key(
      z.string().refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''), { error: '' }),
      'Gets a POST for each change.',
      'https://example.com/hook',
      'an http or https address',
    ),
    kinds: key(kindList(), 'What it is told about; everything if left out.', ['approval'], KINDS_TEXT).optional(),
  })

const webhookList = () =>
  z
    .array(webhook())
    .max(20)
    .superRefine((list, context) => {
      for (const [index, { name }] of list.entries()) {
        const first = list.findIndex((other) => other.name === name)
        if (first < index) reporter(context)([index, 'name'], `entry ${first + 1} already has the name ${name}.`)
      }
    })
    .transform((list) => list.map(({ name, url, kinds }) => ({ name, url, kinds: kinds ?? [...notifyKinds] })))

export type WebhookSettings = z.output<ReturnType<typeof webhookList>>[number]

export const webhookChannel = channelKind({
  name: 'webhook',
  words: {
    title: 'Webhooks',
    short: 'Hooks',
    docs: 'get-told-on-your-phone.md#webhooks',
    help: 'a signed POST to a program of yours',
    answers: 'no',
  },
  settings: {
    webhooks: fileSetting({
      schema: webhookList(),
      description:
        'Addresses that get a signed POST for what waits: a list with `name`, `url` and `kinds` (approval, prompt, wait, stall, session; all if left out). The credential `webhook_secret` signs them.',
      expected: 'a list of webhooks, each with a name and a url',
      example: [{ name: 'pager', url: 'https://example.com/hook', kinds: ['approval'] }],
      default: [],
      defaultText: 'none',
      holdsSecrets: true,
    }),
  },
  /** The names are unique. */
  read: ({ webhooks }): readonly WebhookSettings[] => webhooks,
  contact: null,
  credentials: {
    webhook_secret: {
      isRequired: true,
      needed: 'where `webhooks` are set',
      isRight: isWebhookSecret,
      expected: 'whsec_ and 24 to 64 random bytes as base64: echo "whsec_$(openssl rand -base64 32)" makes one',
    },
  },
  isUsed: ({ settings }) => settings.length > 0,
  check: checkNames,
  open: async (parts) => (await import('./create-webhook.ts')).openWebhooks(parts),
})

/** As the standard of our webhooks wants it. */
function isWebhookSecret(value: string): boolean {
  const [, text = ''] = /^whsec_(.+)$/.exec(value) ?? []
  const bytes = Buffer.from(text, 'base64')
  // Node skips what is not base64, and so would find another key than the receiver.
  return bytes.toString('base64') === text && bytes.length >= 24 && bytes.length <= 64
}

/** Only looks the names up: a request would be a message. */
function checkNames({ settings, outgoing, lookup }: CheckParts<readonly WebhookSettings[]>): Promise<ChannelCheck[]> {
  return Promise.all(
    settings.map(async (webhook): Promise<ChannelCheck> => {
      const url = new URL(webhook.url)
      const shown = `${webhook.name}: ${url.host}`
      if (outgoing.isProxied(url)) return { status: 'ok', detail: `${shown} is behind a proxy` }
      try {
        await lookup(url.hostname.replace(/^\[|\]$/g, ''))
        return { status: 'ok', detail: `${shown} has an address` }
      } catch {
        const mend = 'Fix its url under webhooks in quarterdeck.yaml, or check the network.'
        return { status: 'fail', detail: `${shown} has no address: the name is not known`, mend }
      }
    }),
  )
}
