package main

import (
	"maps"
	"slices"
	"syscall"
	"time"
)

const rootID = 1

// inode is a file, a directory or a symbolic link.
type inode struct {
	id       uint64
	mode     uint32 // type and permissions
	uid, gid uint32
	modified time.Time
	links    uint32
	data     []byte            // of a file; the target of a symbolic link
	entries  map[string]uint64 // of a directory
}

func (n *inode) isDir() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

// tree is one state of the file system. There are two: the one that programs see, and the platter.
type tree map[uint64]*inode

// entry gives a name in a directory to an inode, or takes it away (id 0).
type entry struct {
	dir  uint64
	name string
	id   uint64
}

// change is an entry of the file system's journal; it reaches the platter as a whole or not at all.
type change struct {
	entries []entry
	node    uint64 // whose attributes are set; 0: nobody's
	size    *uint64
	mode    *uint32
	onDisk  bool
}

// touches returns the inodes whose own fsync makes the change durable (strict ordering).
func (c *change) touches() []uint64 {
	if c.node != 0 {
		return []uint64{c.node}
	}
	dirs := make([]uint64, 0, len(c.entries))
	for _, e := range c.entries {
		dirs = append(dirs, e.dir)
	}
	return dirs
}

func (t tree) apply(c *change) {
	for _, e := range c.entries {
		t.setEntry(e)
	}
	n := t[c.node]
	if n == nil {
		return
	}
	if c.size != nil {
		n.resize(*c.size)
	}
	if c.mode != nil {
		n.mode = n.mode&syscall.S_IFMT | *c.mode&^syscall.S_IFMT
	}
}

func (t tree) setEntry(e entry) {
	dir := t[e.dir]
	if dir == nil {
		return
	}
	if old := t[dir.entries[e.name]]; old != nil {
		old.links--
	}
	delete(dir.entries, e.name)
	if n := t[e.id]; n != nil {
		n.links++
		dir.entries[e.name] = e.id
	}
}

func (n *inode) resize(size uint64) {
	if size <= uint64(len(n.data)) {
		clear(n.data[size:])
		n.data = n.data[:size]
		return
	}
	n.data = append(n.data, make([]byte, size-uint64(len(n.data)))...)
}

// write puts bytes at an offset; a gap before it reads as zeros.
func (n *inode) write(offset uint64, bytes []byte) {
	if end := offset + uint64(len(bytes)); end > uint64(len(n.data)) {
		n.resize(end)
	}
	copy(n.data[offset:], bytes)
	n.modified = time.Now()
}

// reachable copies everything that has a name, which is all that a file system check would keep.
func (t tree) reachable() tree {
	found := tree{}
	var visit func(id uint64)
	visit = func(id uint64) {
		n := t[id]
		if n == nil || found[id] != nil {
			return
		}
		copied := *n
		copied.data = slices.Clone(n.data)
		copied.entries = maps.Clone(n.entries)
		found[id] = &copied
		for _, child := range n.entries {
			visit(child)
		}
	}
	visit(rootID)
	return found
}
