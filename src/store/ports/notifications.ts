/** A channel between the processes of one store. What is sent reaches everybody who listens, also the sender, or is lost. */
export interface Notifications {
  /** Resolves when it was sent, or is lost. Never rejects. `payload` has at most 7,900 bytes. */
  send(payload: string): Promise<void>
  /** `on` is called with each payload, and with null when some may have been lost. Call the returned function to stop. */
  listen(on: (payload: string | null) => void): () => void
}
