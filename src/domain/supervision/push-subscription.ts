/** A browser that takes push messages for an operator. */
export interface PushSubscription {
  /** Made from the endpoint, so the same browser has the same id when it subscribes again. */
  id: string
  /** Name of the operator. */
  person: string
  /** What the operator calls it, such as "phone". */
  label: string | null
  /** Epoch ms. */
  createdAt: number
  /** Address at the push service of the browser's vendor. Whoever knows it can disturb, so it is not shown. */
  endpoint: string
  /** The browser's keys, base64url: its public key, an uncompressed point on P-256, and 16 bytes that the push service does not know. */
  keys: { p256dh: string; auth: string }
}

/** What a browser hands in. */
export type NewPushSubscription = Pick<PushSubscription, 'endpoint' | 'keys' | 'label'>

export const MOST_PUSH_SUBSCRIPTIONS = 10
