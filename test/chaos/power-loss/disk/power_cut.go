package main

import (
	"maps"
	"math/rand/v2"
	"slices"
)

const (
	block  = 4096
	sector = 512
)

// loss describes the data that a cut lost, and the unsynced data that survived.
type loss struct {
	Changes int `json:"changes"`
	Writes  int `json:"writes"`
	Bytes   int `json:"bytes"`
	Kept    int `json:"kept"`
}

// cut drops everything that is not on the platter. With a random source, a part of it reaches the platter first.
func (d *disk) cut(chance *rand.Rand) loss {
	kept := 0
	if chance != nil {
		kept = d.writeBack(chance)
	}
	lost := loss{Changes: len(d.pending), Kept: kept}
	for _, writes := range d.writes {
		lost.Writes += len(writes)
		for _, w := range writes {
			lost.Bytes += len(w.bytes)
		}
	}
	lost.Bytes -= kept
	d.forgetAll()
	d.platter = d.platter.reachable()
	d.live = d.platter.reachable()
	d.used = 0
	for _, n := range d.live {
		d.used += uint64(len(n.data))
	}
	return lost
}

// writeBack does the work that kernel and disk had done by themselves before the cut: it commits a prefix of the journal
// and any blocks of the written bytes, some of them torn. It returns the number of bytes.
func (d *disk) writeBack(chance *rand.Rand) int {
	if d.ordering == ordered {
		d.commit(d.pending[:chance.IntN(len(d.pending)+1)])
	} else {
		for range chance.IntN(len(d.pending) + 1) {
			if len(d.pending) == 0 {
				break
			}
			picked := d.pending[chance.IntN(len(d.pending))]
			d.commit(d.coveredBy(picked.touches()[0]))
		}
	}
	kept := 0
	share := []float64{0.1, 0.5, 0.9}[chance.IntN(3)]
	for _, id := range slices.Sorted(maps.Keys(d.writes)) {
		blocks := blocksOf(d.writes[id])
		for _, at := range slices.Sorted(maps.Keys(blocks)) {
			if n := d.platter[id]; n != nil && chance.Float64() < share {
				kept += n.keepBlock(at, blocks[at], chance)
			}
		}
	}
	return kept
}

// blocksOf cuts writes at the borders of blocks, by the block's number; each block's parts stay in order.
func blocksOf(writes []write) map[uint64][]write {
	blocks := map[uint64][]write{}
	for _, w := range writes {
		for len(w.bytes) > 0 {
			at := w.offset / block
			length := min(uint64(len(w.bytes)), (at+1)*block-w.offset)
			blocks[at] = append(blocks[at], write{w.offset, w.bytes[:length], w.after})
			w.offset, w.bytes = w.offset+length, w.bytes[length:]
		}
	}
	return blocks
}

// keepBlock makes the block durable in the state after some of its writes; one in eight is torn at a sector.
func (n *inode) keepBlock(at uint64, parts []write, chance *rand.Rand) int {
	border := (at + 1) * block
	if chance.IntN(8) == 0 {
		border = at*block + uint64(chance.IntN(block/sector))*sector
	}
	kept := 0
	for _, part := range parts[:1+chance.IntN(len(parts))] {
		if part.after != nil && !part.after.onDisk {
			break
		}
		if part.offset < border {
			bytes := part.bytes[:min(uint64(len(part.bytes)), border-part.offset)]
			n.write(part.offset, bytes)
			kept += len(bytes)
		}
	}
	return kept
}
