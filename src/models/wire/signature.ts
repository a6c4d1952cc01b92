// Providers sign what their models thought. The signature is stored and sent back later, perhaps to a model of another provider
// (a fallback, or an edited agent.yaml), which would refuse it. So every signature carries the name of its maker.

export const signed = (maker: string, proof: string): string => `${maker}:${proof}`

/** The signature as the maker sent it; undefined when there is none, or when another provider made it. */
export function proofOf(maker: string, signature: string | undefined): string | undefined {
  return signature?.startsWith(`${maker}:`) ? signature.slice(maker.length + 1) : undefined
}
