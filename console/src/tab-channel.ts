// How the tabs of this browser talk to each other. A browser without channels has tabs that know nothing of each other.

export interface TabChannel<T> {
  readonly isOpen: boolean
  post(message: T): void
  listen(listener: (message: T) => void): void
  close(): void
}

export function openChannel<T>(name: string): TabChannel<T> {
  if (typeof BroadcastChannel === 'undefined') {
    return { isOpen: false, post() {}, listen() {}, close() {} }
  }
  const channel = new BroadcastChannel(name)
  return {
    isOpen: true,
    post: (message) => channel.postMessage(message),
    listen(listener) {
      channel.onmessage = ({ data }: MessageEvent<T>) => listener(data)
    },
    close: () => channel.close(),
  }
}
