package main

import (
	"slices"
	"sync"
	"syscall"
	"time"
)

// ordering is the data that an fsync makes durable besides the bytes of its own file.
type ordering string

const (
	// ordered is ext4's data=ordered with delayed allocation: any fsync commits the one journal, so every name, size
	// and mode that was changed before it; bytes of other files stay behind.
	ordered ordering = "ordered"
	// strict is the minimum that POSIX promises: a name is safe only when its directory was fsynced.
	strict ordering = "strict"
)

// write is one write that no fsync has covered.
type write struct {
	offset uint64
	bytes  []byte
	after  *change // the last change of size before it: without that on the platter, neither are these bytes
}

// disk is a file system in memory. Its platter, the durable state, lags behind the state that programs see.
//
// Data that an fsync (or O_SYNC) covered survives every power cut unchanged. Other data is lost in a cut; with a seed, any
// part of it that a real disk could have kept survives. Names, sizes and modes reach the platter in the order of their
// changes (ordered: a prefix of all changes; strict: a prefix for each directory).
type disk struct {
	mu       sync.Mutex
	ordering ordering
	capacity uint64
	used     uint64
	nextID   uint64
	live     tree
	platter  tree
	pending  []*change
	writes   map[uint64][]write
	// The last change of each file's size that is not on the platter yet.
	resizes map[uint64]*change
	lookups map[uint64]uint64 // how often the kernel knows an inode
	fault   *fault
}

func newDisk(kind ordering, capacity uint64) *disk {
	d := &disk{ordering: kind, capacity: capacity, nextID: rootID, live: tree{}, platter: tree{}}
	d.forgetAll()
	d.allocate(inode{mode: syscall.S_IFDIR | 0o755})
	return d
}

func (d *disk) forgetAll() {
	d.pending = nil
	d.writes = map[uint64][]write{}
	d.resizes = map[uint64]*change{}
	d.lookups = map[uint64]uint64{}
}

// allocate creates an inode without a name, which is therefore lost in a cut.
func (d *disk) allocate(made inode) *inode {
	made.id = d.nextID
	made.modified = time.Now()
	d.nextID++
	for _, t := range []tree{d.live, d.platter} {
		n := made
		n.data = slices.Clone(made.data)
		if n.isDir() {
			n.entries = map[string]uint64{}
		}
		t[n.id] = &n
	}
	return d.live[made.id]
}

func (d *disk) change(c *change) {
	d.live.apply(c)
	d.pending = append(d.pending, c)
	if c.size != nil {
		d.resizes[c.node] = c
	}
}

func (d *disk) write(n *inode, offset uint64, bytes []byte) syscall.Errno {
	if errno := d.reserve(n, offset+uint64(len(bytes))); errno != 0 {
		return errno
	}
	n.write(offset, bytes)
	d.writes[n.id] = append(d.writes[n.id], write{offset, slices.Clone(bytes), d.resizes[n.id]})
	return 0
}

func (d *disk) truncate(n *inode, size uint64) syscall.Errno {
	if errno := d.reserve(n, size); errno != 0 {
		return errno
	}
	d.used -= uint64(max(0, len(n.data)-int(size)))
	var kept []write
	for _, w := range d.writes[n.id] { // Bytes behind the end were in memory only and never reach the platter.
		if w.offset < size {
			w.bytes = w.bytes[:min(uint64(len(w.bytes)), size-w.offset)]
			kept = append(kept, w)
		}
	}
	d.writes[n.id] = kept
	d.change(&change{node: n.id, size: &size})
	return 0
}

func (d *disk) reserve(n *inode, size uint64) syscall.Errno {
	more := max(size, uint64(len(n.data))) - uint64(len(n.data))
	if d.used+more > d.capacity {
		return syscall.ENOSPC
	}
	d.used += more
	return 0
}

// sync is fsync of one file or directory.
func (d *disk) sync(id uint64) {
	d.commit(d.coveredBy(id))
	if n := d.platter[id]; n != nil {
		for _, w := range d.writes[id] {
			n.write(w.offset, w.bytes)
		}
	}
	delete(d.writes, id)
}

func (d *disk) syncAll() {
	d.commit(slices.Clone(d.pending))
	for id := range d.writes {
		d.sync(id)
	}
}

// coveredBy returns the changes that an fsync of the inode commits, in order.
func (d *disk) coveredBy(id uint64) []*change {
	if d.ordering == ordered {
		return slices.Clone(d.pending)
	}
	touched := map[uint64]bool{id: true}
	var covered []*change
	for _, c := range slices.Backward(d.pending) {
		if slices.ContainsFunc(c.touches(), func(id uint64) bool { return touched[id] }) {
			for _, id := range c.touches() {
				touched[id] = true
			}
			covered = append(covered, c)
		}
	}
	slices.Reverse(covered)
	return covered
}

func (d *disk) commit(changes []*change) {
	for _, c := range changes {
		d.platter.apply(c)
		c.onDisk = true
		if d.resizes[c.node] == c {
			delete(d.resizes, c.node)
		}
	}
	d.pending = slices.DeleteFunc(d.pending, func(c *change) bool { return c.onDisk })
}

// release drops an inode that is reachable neither by a name nor by an open file.
func (d *disk) release(id uint64) {
	n := d.live[id]
	if n == nil || n.links > 0 || d.lookups[id] > 0 || id == rootID {
		return
	}
	d.used -= uint64(len(n.data))
	delete(d.live, id)
	delete(d.writes, id)
	delete(d.resizes, id)
	delete(d.lookups, id)
	named := func(c *change) bool {
		return slices.ContainsFunc(c.entries, func(e entry) bool { return e.id == id })
	}
	if on := d.platter[id]; on != nil && on.links == 0 && !slices.ContainsFunc(d.pending, named) {
		delete(d.platter, id)
	}
}
