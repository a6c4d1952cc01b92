const LOCAL = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

export interface DeviceLink {
  url: string
  /** The link leads to the machine on which it is opened, so only a browser on the server's machine can use it. */
  isLocal: boolean
}

/**
 * The link for another device. The server knows its own name only if the settings say so; if it does not, but this browser has reached it
 * by a name, that name is the better one.
 */
export function deviceLink(made: string, consoleUrl: string, keep: boolean): DeviceLink {
  const [theirs, ours] = [new URL(made), new URL(consoleUrl)]
  const better = LOCAL.test(theirs.hostname) && !LOCAL.test(ours.hostname) ? ours : theirs
  better.hash = keep ? `${theirs.hash}&keep` : theirs.hash
  return { url: better.href, isLocal: LOCAL.test(better.hostname) }
}
