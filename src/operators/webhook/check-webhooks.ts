import type { ChannelCheck, CheckParts } from '../channel-kind.ts'
import type { WebhookSettings } from './channel.ts'

type Parts = CheckParts<readonly WebhookSettings[], never>

/** Only looks the names up: a request would be a message. */
export const checkWebhooks = ({ settings, outgoing, lookup }: Parts): Promise<ChannelCheck[]> =>
  Promise.all(
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
