// A provider's proof travels through the log and comes back later, perhaps to another provider's model (a fallback, an
// edited agent.yaml), which would refuse the request for it. So every signature carries the name of its maker.

export const signed = (maker: string, proof: string): string => `${maker}:${proof}`

/** The maker's own proof, or undefined when there is none or somebody else made it. */
export function proofOf(maker: string, signature: string | undefined): string | undefined {
  return signature?.startsWith(`${maker}:`) ? signature.slice(maker.length + 1) : undefined
}
