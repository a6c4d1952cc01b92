// What a passage's row says of its terms: their numbers in rising order, then how often each occurs.

const TERM_BYTES = 4
const HEAD_BYTES = 6

export function packTerms(terms: Uint32Array, counts: Uint8Array): Uint8Array {
  const packed = new Uint8Array(terms.length * (TERM_BYTES + 1))
  packed.set(new Uint8Array(terms.buffer, terms.byteOffset, terms.byteLength))
  packed.set(counts.subarray(0, terms.length), terms.byteLength)
  return packed
}

/** How often each of `asked` occurs. */
export function countsIn(packed: Uint8Array, asked: readonly number[]): number[] {
  const length = packed.length / (TERM_BYTES + 1)
  // SQLite gives each blob a buffer of its own, so its beginning is where a term may begin.
  const terms = new Uint32Array(packed.buffer, packed.byteOffset, length)
  return asked.map((term) => {
    let [from, to] = [0, length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((terms[middle] ?? 0) < term) from = middle + 1
      else to = middle
    }
    return terms[from] === term ? (packed[length * TERM_BYTES + from] ?? 0) : 0
  })
}

/** The beginning of an id as a number: of two ids, the one with the lower head comes first. */
export function headOf(id: string): number {
  const head = Buffer.alloc(HEAD_BYTES)
  Buffer.from(id).copy(head)
  return head.readUIntBE(0, HEAD_BYTES)
}
