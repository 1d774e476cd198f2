package main

import (
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const forever = time.Hour

// filesystem answers the kernel's requests about files from the disk. Each mount has its own. After a power cut the disk
// belongs to the next mount, and files that are still open in this one return EIO.
type filesystem struct {
	fuse.RawFileSystem
	disk *disk
	dead bool // guarded by the disk's lock
	// The entries of a directory when its reading began, by handle.
	listings map[uint64][]fuse.DirEntry
	handles  uint64
}

func newFilesystem(d *disk) *filesystem {
	return &filesystem{
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		disk:          d,
		listings:      map[uint64][]fuse.DirEntry{},
	}
}

func (f *filesystem) String() string { return "power-disk" }

// on runs an operation that changes nothing, under the disk's lock, while there is power and no fault of reading.
func (f *filesystem) on(id uint64, deed func(n *inode) fuse.Status) fuse.Status {
	return f.at(id, func(n *inode) fuse.Status {
		if errno := f.disk.meets(false); errno != 0 {
			return fuse.Status(errno)
		}
		return deed(n)
	})
}

// alter runs an operation that changes something, while there is no fault.
func (f *filesystem) alter(id uint64, deed func(n *inode) fuse.Status) fuse.Status {
	return f.at(id, func(n *inode) fuse.Status {
		if errno := f.disk.meets(true); errno != 0 {
			return fuse.Status(errno)
		}
		return deed(n)
	})
}

// free runs an operation that gives room back, which also a full disk carries out.
func (f *filesystem) free(id uint64, deed func(n *inode) fuse.Status) fuse.Status {
	return f.at(id, func(n *inode) fuse.Status {
		if errno := f.disk.meets(true); errno == syscall.EIO || errno == syscall.EROFS {
			return fuse.Status(errno)
		}
		return deed(n)
	})
}

// at runs what no fault stops.
func (f *filesystem) at(id uint64, deed func(n *inode) fuse.Status) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.dead {
		return fuse.EIO
	}
	n := f.disk.live[id]
	if n == nil {
		return fuse.ENOENT
	}
	return deed(n)
}

func (n *inode) attributes(out *fuse.Attr) {
	out.Ino = n.id
	out.Mode = n.mode
	out.Size = uint64(len(n.data))
	out.Blocks = (out.Size + sector - 1) / sector
	out.Blksize = block
	out.Nlink = max(1, n.links)
	out.Owner = fuse.Owner{Uid: n.uid, Gid: n.gid}
	out.SetTimes(&n.modified, &n.modified, &n.modified)
}

// known tells the kernel about an inode, which it then keeps until it says Forget.
func (f *filesystem) known(n *inode, out *fuse.EntryOut) {
	f.disk.lookups[n.id]++
	out.NodeId = n.id
	out.Generation = 1
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(forever)
	n.attributes(&out.Attr)
}

func (f *filesystem) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return f.on(h.NodeId, func(dir *inode) fuse.Status {
		n := f.disk.live[dir.entries[name]]
		if n == nil {
			return fuse.ENOENT
		}
		f.known(n, out)
		return fuse.OK
	})
}

func (f *filesystem) Forget(id, count uint64) {
	f.at(id, func(n *inode) fuse.Status {
		f.disk.lookups[id] -= min(count, f.disk.lookups[id])
		f.disk.release(id)
		return fuse.OK
	})
}

func (f *filesystem) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.on(in.NodeId, func(n *inode) fuse.Status {
		out.SetTimeout(forever)
		n.attributes(&out.Attr)
		return fuse.OK
	})
}

func (f *filesystem) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.alter(in.NodeId, func(n *inode) fuse.Status {
		if size, given := in.GetSize(); given {
			if errno := f.disk.truncate(n, size); errno != 0 {
				return fuse.Status(errno)
			}
		}
		if mode, given := in.GetMode(); given {
			f.disk.change(&change{node: n.id, mode: &mode})
		}
		if at, given := in.GetMTime(); given {
			n.modified = at
		}
		out.SetTimeout(forever)
		n.attributes(&out.Attr)
		return fuse.OK
	})
}

func (f *filesystem) Readlink(_ <-chan struct{}, h *fuse.InHeader) (target []byte, status fuse.Status) {
	status = f.on(h.NodeId, func(n *inode) fuse.Status {
		target = slices.Clone(n.data)
		return fuse.OK
	})
	return target, status
}

func (f *filesystem) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return f.on(in.NodeId, func(*inode) fuse.Status {
		f.handles++
		out.Fh = f.handles
		return fuse.OK
	})
}

func (f *filesystem) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.on(in.NodeId, func(dir *inode) fuse.Status {
		if in.Offset == 0 {
			f.listings[in.Fh] = f.list(dir)
		}
		listing := f.listings[in.Fh]
		for _, one := range listing[min(in.Offset, uint64(len(listing))):] {
			if !out.AddDirEntry(one) {
				break
			}
		}
		return fuse.OK
	})
}

func (f *filesystem) list(dir *inode) []fuse.DirEntry {
	listing := make([]fuse.DirEntry, 0, len(dir.entries))
	for name, id := range dir.entries {
		listing = append(listing, fuse.DirEntry{Name: name, Ino: id, Mode: f.disk.live[id].mode})
	}
	slices.SortFunc(listing, func(a, b fuse.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return listing
}

func (f *filesystem) ReleaseDir(in *fuse.ReleaseIn) {
	f.at(in.NodeId, func(*inode) fuse.Status {
		delete(f.listings, in.Fh)
		return fuse.OK
	})
}

func (f *filesystem) StatFs(_ <-chan struct{}, h *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return f.on(rootID, func(*inode) fuse.Status {
		free := (f.disk.capacity - f.disk.used) / block
		*out = fuse.StatfsOut{
			Blocks: f.disk.capacity / block, Bfree: free, Bavail: free, Bsize: block, Frsize: block, NameLen: 255,
			Files: 1 << 20, Ffree: 1<<20 - uint64(len(f.disk.live)),
		}
		return fuse.OK
	})
}

func (f *filesystem) Access(_ <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	return fuse.ENOSYS // The mount asks the kernel to check modes itself.
}

func (f *filesystem) GetXAttr(<-chan struct{}, *fuse.InHeader, string, []byte) (uint32, fuse.Status) {
	return 0, fuse.Status(syscall.ENOTSUP)
}
