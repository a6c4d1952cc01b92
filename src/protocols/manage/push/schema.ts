import { z } from 'zod'

export const NewSubscriptionSchema = z.strictObject({
  endpoint: z.string().max(2_000).describe('Address at the push service of the browser’s vendor.'),
  expirationTime: z.number().nullable().exactOptional().describe('Browsers send it; it is not used.'),
  keys: z.strictObject({
    p256dh: z.string().max(200).describe('The browser’s public key, base64url.'),
    auth: z.string().max(100).describe('16 bytes, base64url.'),
  }),
  label: z
    .string()
    .regex(/^[^\p{C}]{1,64}$/u, 'Send 1 to 64 printable characters.')
    .exactOptional()
    .describe('Your name for this browser.'),
})
/** What `pushManager.subscribe` gives, as `toJSON` of it, and a label. */
export type NewPushSubscription = z.output<typeof NewSubscriptionSchema>

const example = {
  subscription_id: '9f86d081884c7d659a2feaa0c55ad015',
  label: 'phone',
  service: 'push.example.com',
  created_at: '2026-11-15T09:00:00.000Z',
}

export const PushSubscriptionSchema = z
  .strictObject({
    subscription_id: z.string(),
    label: z.string().nullable(),
    service: z.string().describe('Host of the push service.'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'PushSubscription', example })
/** A browser that takes push messages for you. */
export type PushSubscription = z.output<typeof PushSubscriptionSchema>

export const PushKeySchema = z.strictObject({ public_key: z.string().describe('A point on P-256, base64url.') }).meta({
  example: { public_key: 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8' },
})
export type PushKey = z.output<typeof PushKeySchema>
